import java.io.*;
import java.util.*;

/** Reads a table as running.py writes it, and writes what an exported class predicts for each row. */
final class RunTree_ {
    private static final DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
    private static final DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));

    public static void main(String[] arguments) throws IOException {
        int rows = in.readInt();
        List<Map<String, Object>> table = new ArrayList<>();
        for (int i = 0; i < rows; ++i) table.add(new HashMap<>());
        for (int left = in.readInt(); left > 0; --left) {
            String name = (String) read();
            Object[] values = new Object[in.readInt()];
            for (int i = 0; i < values.length; ++i) values[i] = read();
            for (Map<String, Object> row : table) row.put(name, values[in.readInt()]);
        }
        for (Map<String, Object> row : table) {
            Object found = TREE.predict(row);
            int count = found.getClass().isArray() ? java.lang.reflect.Array.getLength(found) : 1;
            for (int k = 0; k < count; ++k) {
                write(found.getClass().isArray() ? java.lang.reflect.Array.get(found, k) : found);
            }
        }
        out.flush();
    }

    private static Object read() throws IOException {
        byte[] bytes = new byte[in.readInt()];
        char type = (char) in.readByte();
        if (type == 'n') return null;
        if (type == 'd') return in.readDouble();
        if (type == 'l') return in.readLong();
        if (type == 'b') return in.readLong() != 0;
        in.readFully(bytes);
        if (type == 'i') return new java.math.BigInteger(new String(bytes, "US-ASCII"));
        char[] units = new char[bytes.length / 2];
        java.nio.ByteBuffer.wrap(bytes).asCharBuffer().get(units);
        return new String(units);
    }

    private static void write(Object value) throws IOException {
        if (value instanceof String) {
            String text = (String) value;
            out.writeInt(2 * text.length());
            out.writeByte('t');
            out.writeChars(text);
            return;
        }
        out.writeInt(8);
        out.writeByte(value instanceof Double ? 'd' : value instanceof Boolean ? 'b' : 'l');
        if (value instanceof Double) out.writeDouble((Double) value);
        else if (value instanceof Boolean) out.writeLong((Boolean) value ? 1 : 0);
        else out.writeLong((Long) value);
    }
}
